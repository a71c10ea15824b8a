/** Reading a file of 4 KiB pages, from the page cache and from the disk. */
@NullMarked
package dev.belfry.bench.files;

import org.jspecify.annotations.NullMarked;
