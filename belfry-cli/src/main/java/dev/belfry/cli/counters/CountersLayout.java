package dev.belfry.cli.counters;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.belfry.shm.SegmentConfig;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * The layout of a file of counters. All numbers are little-endian.
 *
 * <pre>
 *    0  u64   magic           "BELFRYCT"; written last
 *    8  u32   version         1
 *   12  u32   fields          the number of field descriptions
 *   16  u32   field bytes     the size of a field description
 *   20  u32   host bytes      the size of a sample's host part
 *   24  u32   worker bytes    the size of a sample's part for one worker
 *   28  u32   most workers    how many worker parts a sample has room for
 *   32  u32   samples offset  where the two samples begin
 *   36  u32   sample bytes    the size of a sample
 *   40  u64   latest          the number of the latest complete sample; 0 if there is none
 *   64        the field descriptions
 *               0  char[32]  name
 *              32  char[16]  unit
 *              48  u32       part    0 host, 1 worker
 *              52  u32       type    1 integer, 2 real, 3 text
 *              56  u32       offset  in that part
 *              60  u32       bytes
 *              64
 *      the two samples; sample number n is at index n mod 2
 *               0  u64       number  of the sample; -1 while it is being written
 *               8            host part
 *                            worker parts, as many as the field "workers" says
 * </pre>
 *
 * The writer overwrites the sample that is not the latest: it sets its number to -1, writes the
 * fields, sets the number, and makes the sample the latest. So there is always a complete sample to
 * read, even if the writer is killed midway. A reader checks the number before and after copying a
 * sample, to know that it was not overwritten meanwhile.
 */
final class CountersLayout {
  static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfDouble DOUBLE =
      ValueLayout.JAVA_DOUBLE.withOrder(ByteOrder.LITTLE_ENDIAN);

  static final long MAGIC = 0x5443_5952_464c_4542L; // "BELFRYCT"
  static final int VERSION = 1;

  static final int MAGIC_AT = 0;
  static final int VERSION_AT = 8;
  static final int FIELDS_AT = 12;
  static final int FIELD_BYTES_AT = 16;
  static final int HOST_BYTES_AT = 20;
  static final int WORKER_BYTES_AT = 24;
  static final int MAX_WORKERS_AT = 28;
  static final int SAMPLES_OFFSET_AT = 32;
  static final int SAMPLE_BYTES_AT = 36;
  static final int LATEST_AT = 40;
  static final int HEADER_BYTES = 64;

  static final int NAME_AT = 0;
  static final int NAME_BYTES = 32;
  static final int UNIT_AT = NAME_AT + NAME_BYTES;
  static final int UNIT_BYTES = 16;
  static final int PART_AT = UNIT_AT + UNIT_BYTES;
  static final int TYPE_AT = PART_AT + Integer.BYTES;
  static final int OFFSET_AT = TYPE_AT + Integer.BYTES;
  static final int BYTES_AT = OFFSET_AT + Integer.BYTES;
  static final int FIELD_BYTES = BYTES_AT + Integer.BYTES;

  /** Within a sample, as is the next. */
  static final int NUMBER_AT = 0;

  static final int HOST_AT = Long.BYTES;
  static final long BEING_WRITTEN = -1;

  /** The most workers that a pool can have. */
  static final int MAX_WORKERS = SegmentConfig.MAX_GUESTS;

  static final int SAMPLES_OFFSET = HEADER_BYTES + FIELD_BYTES * Counter.values().length;
  static final int SAMPLE_BYTES =
      HOST_AT + Counter.Part.HOST.bytes() + MAX_WORKERS * Counter.Part.WORKER.bytes();
  static final int TOTAL_BYTES = SAMPLES_OFFSET + 2 * SAMPLE_BYTES;

  private CountersLayout() {}

  /** Writes as many whole characters of a text as fit, padded with zeros. */
  static void putText(MemorySegment memory, long at, int bytes, String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(utf8.length, bytes);
    while (length < utf8.length && length > 0 && (utf8[length] & 0xc0) == 0x80) {
      length--; // do not split a character
    }
    memory.asSlice(at, bytes).fill((byte) 0);
    MemorySegment.copy(utf8, 0, memory, JAVA_BYTE, at, length);
  }

  /** Reads a text up to its first zero. */
  static String text(MemorySegment memory, long at, int bytes) {
    byte[] utf8 = memory.asSlice(at, bytes).toArray(JAVA_BYTE);
    int length = 0;
    while (length < bytes && utf8[length] != 0) {
      length++;
    }
    return new String(utf8, 0, length, StandardCharsets.UTF_8);
  }
}
