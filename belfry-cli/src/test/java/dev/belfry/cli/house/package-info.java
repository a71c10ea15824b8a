/** Tests of the whole project: its rules, its architecture and its documents. */
@NullMarked
package dev.belfry.cli.house;

import org.jspecify.annotations.NullMarked;
