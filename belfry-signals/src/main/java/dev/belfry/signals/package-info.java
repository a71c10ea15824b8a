/**
 * The signal standard. {@link dev.belfry.signals.Signals} is the entry point: it receives the
 * signals of the process and, for each, calls the program's handlers and performs the behaviour
 * defined in the {@linkplain dev.belfry.signals.SignalCatalog catalog}.
 *
 * <p>The package knows nothing of configuration files, HTTP, workers or the event loop. The program
 * supplies what is needed as callbacks. Clock, platform, exit, log and telemetry are ports that
 * tests replace, as {@link dev.belfry.signals.SignalsTesting} does.
 */
@NullMarked
package dev.belfry.signals;

import org.jspecify.annotations.NullMarked;
