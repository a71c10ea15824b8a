package dev.belfry.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;

/** The structures of {@code linux/io_uring.h}, the same on all architectures. */
final class UringStructs {
  /** {@code struct io_sqring_offsets}: offsets into the mapping of the rings. */
  static final StructLayout SQ_OFFSETS =
      MemoryLayout.structLayout(
          JAVA_INT.withName("head"),
          JAVA_INT.withName("tail"),
          JAVA_INT.withName("ring_mask"),
          JAVA_INT.withName("ring_entries"),
          JAVA_INT.withName("flags"),
          JAVA_INT.withName("dropped"),
          JAVA_INT.withName("array"),
          MemoryLayout.paddingLayout(12));

  /** {@code struct io_cqring_offsets}. */
  static final StructLayout CQ_OFFSETS =
      MemoryLayout.structLayout(
          JAVA_INT.withName("head"),
          JAVA_INT.withName("tail"),
          JAVA_INT.withName("ring_mask"),
          JAVA_INT.withName("ring_entries"),
          JAVA_INT.withName("overflow"),
          JAVA_INT.withName("cqes"),
          JAVA_INT.withName("flags"),
          MemoryLayout.paddingLayout(12));

  static final StructLayout PARAMS =
      MemoryLayout.structLayout(
          JAVA_INT.withName("sq_entries"),
          JAVA_INT.withName("cq_entries"),
          JAVA_INT.withName("flags"),
          JAVA_INT.withName("sq_thread_cpu"),
          JAVA_INT.withName("sq_thread_idle"),
          JAVA_INT.withName("features"),
          JAVA_INT.withName("wq_fd"),
          MemoryLayout.paddingLayout(12),
          SQ_OFFSETS.withName("sq_off"),
          CQ_OFFSETS.withName("cq_off"));

  /** A request; several fields have other names and meanings for other operations. */
  static final StructLayout SQE =
      MemoryLayout.structLayout(
          JAVA_BYTE.withName("opcode"),
          JAVA_BYTE.withName("flags"),
          JAVA_SHORT.withName("ioprio"),
          JAVA_INT.withName("fd"),
          JAVA_LONG.withName("off"),
          JAVA_LONG.withName("addr"),
          JAVA_INT.withName("len"),
          JAVA_INT.withName("rw_flags"),
          JAVA_LONG.withName("user_data"),
          JAVA_SHORT.withName("buf_index"),
          JAVA_SHORT.withName("personality"),
          JAVA_INT.withName("file_index"),
          JAVA_LONG.withName("addr3"),
          MemoryLayout.paddingLayout(8));

  /** A completion. */
  static final StructLayout CQE =
      MemoryLayout.structLayout(
          JAVA_LONG.withName("user_data"), JAVA_INT.withName("res"), JAVA_INT.withName("flags"));

  static final StructLayout GETEVENTS_ARG =
      MemoryLayout.structLayout(
          JAVA_LONG.withName("sigmask"),
          JAVA_INT.withName("sigmask_sz"),
          MemoryLayout.paddingLayout(4),
          JAVA_LONG.withName("ts"));

  static final StructLayout RSRC_UPDATE =
      MemoryLayout.structLayout(
          JAVA_INT.withName("offset"), MemoryLayout.paddingLayout(4), JAVA_LONG.withName("data"));

  static final StructLayout BUF_REG =
      MemoryLayout.structLayout(
          JAVA_LONG.withName("ring_addr"),
          JAVA_INT.withName("ring_entries"),
          JAVA_SHORT.withName("bgid"),
          MemoryLayout.paddingLayout(26));

  /** An entry of a buffer ring; in the first entry, {@code resv} is the ring's tail. */
  static final StructLayout BUF =
      MemoryLayout.structLayout(
          JAVA_LONG.withName("addr"),
          JAVA_INT.withName("len"),
          JAVA_SHORT.withName("bid"),
          JAVA_SHORT.withName("resv"));

  static final long FLAGS = offset(PARAMS, "flags");
  static final long CQ_ENTRIES = offset(PARAMS, "cq_entries");
  static final long FEATURES = offset(PARAMS, "features");
  static final long ARG_TIMEOUT = offset(GETEVENTS_ARG, "ts");
  static final long UPDATE_OFFSET = offset(RSRC_UPDATE, "offset");
  static final long UPDATE_DATA = offset(RSRC_UPDATE, "data");

  private UringStructs() {}

  /** The offset of a field in the mapping of the rings, as the kernel reported it. */
  static int place(MemorySegment params, String ring, String field) {
    return params.get(
        JAVA_INT,
        PARAMS.byteOffset(PathElement.groupElement(ring), PathElement.groupElement(field)));
  }

  /** The size of the mapping of both rings, a single one since Linux 5.4. */
  static long ringBytes(MemorySegment params) {
    long array =
        place(params, "sq_off", "array")
            + params.get(JAVA_INT, offset(PARAMS, "sq_entries")) * (long) Integer.BYTES;
    long completions =
        place(params, "cq_off", "cqes") + params.get(JAVA_INT, CQ_ENTRIES) * CQE.byteSize();
    return Math.max(array, completions);
  }

  /** The size of the mapping of the requests. */
  static long entriesBytes(MemorySegment params) {
    return params.get(JAVA_INT, offset(PARAMS, "sq_entries")) * SQE.byteSize();
  }

  static long offset(StructLayout layout, String field) {
    return layout.byteOffset(PathElement.groupElement(field));
  }
}
