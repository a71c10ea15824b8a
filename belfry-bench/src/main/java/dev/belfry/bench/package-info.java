/** Side-by-side measurements of Belfry and its peers; never shipped. */
@NullMarked
package dev.belfry.bench;

import org.jspecify.annotations.NullMarked;
