package dev.belfry.cli.top;

/**
 * What the text is for.
 *
 * @param columns how wide a line may be
 * @param rows how many lines there may be
 * @param colour whether it may have colours
 * @param ascii whether it must do without blocks and Greek letters
 */
record Look(int columns, int rows, boolean colour, boolean ascii) {}
