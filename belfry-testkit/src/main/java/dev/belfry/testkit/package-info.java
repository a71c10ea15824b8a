/**
 * What the tests of the other modules share: system calls that can be counted and made to fail,
 * descriptors that can be counted, programs compiled by gcc. Never shipped.
 */
@NullMarked
package dev.belfry.testkit;

import org.jspecify.annotations.NullMarked;
