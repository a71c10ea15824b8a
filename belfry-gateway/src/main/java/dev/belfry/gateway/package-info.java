/**
 * Calls to workers over HTTP: {@link dev.belfry.gateway.Gateway} serves {@code POST /call/{method}}
 * from a pool.
 */
@NullMarked
package dev.belfry.gateway;

import org.jspecify.annotations.NullMarked;
