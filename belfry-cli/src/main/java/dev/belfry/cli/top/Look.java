package dev.belfry.cli.top;

/**
 * The limits of the terminal or file that the text is for.
 *
 * @param columns the width of a line
 * @param rows the number of lines
 * @param colour whether to use colours
 * @param ascii whether to avoid block characters and Greek letters
 */
record Look(int columns, int rows, boolean colour, boolean ascii) {}
