/**
 * The source of signals for a JVM that was started with them blocked. Nothing here is called by
 * programs: {@link dev.belfry.signals.Signals} finds it by itself.
 */
@NullMarked
package dev.belfry.signals.linux;

import org.jspecify.annotations.NullMarked;
