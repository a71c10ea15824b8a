package dev.belfry.admin;

import java.time.Instant;

/**
 * An event in the life of a host that an operator wants to know about.
 *
 * @param at when it happened
 * @param kind {@code signal}, {@code death}, {@code ready}, {@code circuit}, {@code dead-letter} or
 *     {@code reload}; others are allowed and shown as well
 * @param text what happened, in one line
 */
public record HostEvent(Instant at, String kind, String text) {}
