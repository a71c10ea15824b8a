package dev.belfry.signals;

import java.util.Optional;

/**
 * How a platform supports a signal, for help texts.
 *
 * @param signal the signal
 * @param support how the platform supports it
 * @param fallback what the platform offers instead, if it lacks the signal
 */
public record SignalSupport(Signal signal, Support support, Optional<WindowsFallback> fallback) {}
