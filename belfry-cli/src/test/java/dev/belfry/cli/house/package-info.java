/** Tests of the whole house: its rules, its arrows and its documents. */
@NullMarked
package dev.belfry.cli.house;

import org.jspecify.annotations.NullMarked;
