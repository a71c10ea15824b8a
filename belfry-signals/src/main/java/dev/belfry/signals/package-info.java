/**
 * The signal standard. {@link dev.belfry.signals.Signals} is the way in: it knows the {@linkplain
 * dev.belfry.signals.SignalCatalog catalog}, receives the signals of the process and does what the
 * catalog says about each, together with what the program has registered.
 *
 * <p>The package knows nothing of configuration files, HTTP, workers or the event loop. What it
 * needs from the program reaches it as callbacks, and clock, platform, exit, log and telemetry are
 * ports that a test replaces ({@link dev.belfry.signals.SignalsTesting} does).
 */
@NullMarked
package dev.belfry.signals;

import org.jspecify.annotations.NullMarked;
