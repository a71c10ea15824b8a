/** YAML read field by field, with the line and the path of everything that is wrong. */
@NullMarked
package dev.belfry.signals.yaml;

import org.jspecify.annotations.NullMarked;
