/** Tests that run the packaged benchmarks. */
@NullMarked
package dev.belfry.bench;

import org.jspecify.annotations.NullMarked;
