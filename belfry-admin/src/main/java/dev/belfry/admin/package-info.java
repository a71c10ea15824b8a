/**
 * The admin surface: {@link dev.belfry.admin.AdminServer} serves {@code POST /admin/signal},
 * health, metrics and a description of itself, on a listener that is not the application's.
 *
 * <h2>What is where</h2>
 *
 * <ul>
 *   <li>What programs use: {@code AdminServer}, {@code AdminOptions}, {@code AdminTls}, {@code
 *       AuthMethod}, {@code Secret}, {@code SignalMetrics}; and {@code HostView}, {@code
 *       HostState}, {@code WorkerRow} and {@code HostEvents} for what the console shows.
 *   <li>The way of a request: {@code Listeners} say who may come in; {@code ConnectionDeadline} and
 *       {@code RequestLimit} bound how long and how much; {@code RequestHandler} finds its {@code
 *       Route}, has the {@code Authenticator} say who sent it, within {@code ClientBudgets}, and
 *       lets {@code Surface} or {@code Console} make the {@code Answer}; {@code RequestLog} notes
 *       it.
 *   <li>The console: {@code Console}, which a browser may use under its {@code OwnNames}, with
 *       {@code Sessions} for those who have signed in; {@code ConsoleFeed} looks at the host and
 *       tells each {@code ConsoleStream}.
 * </ul>
 */
@NullMarked
package dev.belfry.admin;

import org.jspecify.annotations.NullMarked;
