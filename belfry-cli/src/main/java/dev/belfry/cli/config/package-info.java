/** The configuration of a host: its file, its schema and its content. */
@NullMarked
package dev.belfry.cli.config;

import org.jspecify.annotations.NullMarked;
