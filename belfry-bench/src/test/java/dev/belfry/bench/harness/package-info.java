/** Shows that figures are summed up and shown as they should be. */
@NullMarked
package dev.belfry.bench.harness;

import org.jspecify.annotations.NullMarked;
