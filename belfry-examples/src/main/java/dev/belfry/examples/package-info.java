/** Small programs that the documentation shows; the build runs each of them. Never shipped. */
@NullMarked
package dev.belfry.examples;

import org.jspecify.annotations.NullMarked;
