package dev.belfry.signals;

import java.util.Optional;

/**
 * A signal on a platform, for help texts.
 *
 * @param signal the signal
 * @param support how the platform has it
 * @param fallback what there is instead, where the platform lacks it
 */
public record SignalSupport(Signal signal, Support support, Optional<WindowsFallback> fallback) {}
