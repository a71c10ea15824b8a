/**
 * The admin surface: {@link dev.belfry.admin.AdminServer} serves {@code POST /admin/signal},
 * health, metrics and a description of itself, on a listener that is not the application's.
 */
@NullMarked
package dev.belfry.admin;

import org.jspecify.annotations.NullMarked;
