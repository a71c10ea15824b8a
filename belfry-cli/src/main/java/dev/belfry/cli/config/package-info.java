/** The configuration of a host: its file, its schema, and what is in it. */
@NullMarked
package dev.belfry.cli.config;

import org.jspecify.annotations.NullMarked;
