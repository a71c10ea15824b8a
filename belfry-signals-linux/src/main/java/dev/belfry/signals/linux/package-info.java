/**
 * The signal source for a JVM that was started with its signals blocked. Programs do not call this
 * package; {@link dev.belfry.signals.Signals} finds it through the service loader.
 */
@NullMarked
package dev.belfry.signals.linux;

import org.jspecify.annotations.NullMarked;
