package dev.belfry.admin;

import java.time.Instant;

/**
 * Something that happened to a host and that an operator wants to know of.
 *
 * @param at when
 * @param kind {@code signal}, {@code death}, {@code ready}, {@code circuit}, {@code dead-letter} or
 *     {@code reload}; others are shown too
 * @param text what, in one line
 */
public record HostEvent(Instant at, String kind, String text) {}
