package dev.belfry.cli.top;

/**
 * What the terminal or file that shows the text can display.
 *
 * @param columns the width of a line
 * @param rows the number of lines
 * @param colour whether to use colours
 * @param ascii whether to avoid block characters and Greek letters
 */
record Look(int columns, int rows, boolean colour, boolean ascii) {}
