/** Reads YAML field by field and reports every fault with its line and path. */
@NullMarked
package dev.belfry.signals.yaml;

import org.jspecify.annotations.NullMarked;
