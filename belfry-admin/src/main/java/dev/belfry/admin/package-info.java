/**
 * The admin surface: {@link dev.belfry.admin.AdminServer} serves {@code POST /admin/signal},
 * health, metrics and an OpenAPI description, on a listener separate from the application's.
 *
 * <h2>Overview</h2>
 *
 * <ul>
 *   <li>Public API: {@code AdminServer}, {@code AdminOptions}, {@code AdminTls}, {@code
 *       AuthMethod}, {@code Secret} and {@code SignalMetrics}; for the console, {@code HostView},
 *       {@code HostState}, {@code WorkerRow} and {@code HostEvents}.
 *   <li>The path of a request: {@code Listeners} set up each listener and its access; {@code
 *       ConnectionDeadline} and {@code RequestLimit} bound the time and the bytes of a connection;
 *       {@code RequestHandler} finds the {@code Route}, authenticates the sender with {@code
 *       Authenticator}, within {@code ClientBudgets}, and obtains the {@code Answer} from {@code
 *       Surface} or {@code Console}; {@code RequestLog} logs it.
 *   <li>The console: a browser reaches {@code Console} under one of its {@code OwnNames}; {@code
 *       Sessions} holds the signed-in users; {@code ConsoleFeed} samples the host and feeds each
 *       {@code ConsoleStream}.
 * </ul>
 */
@NullMarked
package dev.belfry.admin;

import org.jspecify.annotations.NullMarked;
