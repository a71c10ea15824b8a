package dev.belfry.shm;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * The memory of one side that records this side's accesses to named places, by the name of the
 * method, which includes the memory order: {@code setIntRelease tail}. One thread only.
 */
final class TracedMemory extends Memory {
  private final Memory real;
  private final NavigableMap<Long, Place> places = new TreeMap<>();
  private final Map<String, Runnable> before = new HashMap<>();
  private final List<String> trace = new ArrayList<>();

  TracedMemory(Memory real) {
    super(real.mapping());
    this.real = real;
  }

  /** The traced memory of a segment. */
  static TracedMemory of(Segment segment) {
    return (TracedMemory) segment.memory();
  }

  private record Place(String name, long end) {}

  /** Records accesses to some bytes from now on. */
  TracedMemory name(String name, long offset, long bytes) {
    places.put(offset, new Place(name, offset + bytes));
    return this;
  }

  /** Runs an action before each occurrence of an access, named as in the trace. */
  void before(String access, Runnable action) {
    before.put(access, action);
  }

  /** The accesses since the last call, in order. */
  List<String> trace() {
    List<String> all = List.copyOf(trace);
    trace.clear();
    return all;
  }

  private void note(String method, long address) {
    long offset = address - mapping().address();
    Map.Entry<Long, Place> at = places.floorEntry(offset);
    if (at != null && offset < at.getValue().end()) {
      String access = method + " " + at.getValue().name();
      before.getOrDefault(access, () -> {}).run();
      trace.add(access);
    }
  }

  @Override
  int getInt(long address) {
    note("getInt", address);
    return real.getInt(address);
  }

  @Override
  int getIntAcquire(long address) {
    note("getIntAcquire", address);
    return real.getIntAcquire(address);
  }

  @Override
  void setInt(long address, int value) {
    note("setInt", address);
    real.setInt(address, value);
  }

  @Override
  void setIntRelease(long address, int value) {
    note("setIntRelease", address);
    real.setIntRelease(address, value);
  }

  @Override
  boolean compareAndSetInt(long address, int expected, int value) {
    note("compareAndSetInt", address);
    return real.compareAndSetInt(address, expected, value);
  }

  @Override
  int getAndAddIntRelease(long address, int value) {
    note("getAndAddIntRelease", address);
    return real.getAndAddIntRelease(address, value);
  }

  @Override
  long getLong(long address) {
    note("getLong", address);
    return real.getLong(address);
  }

  @Override
  long getLongAcquire(long address) {
    note("getLongAcquire", address);
    return real.getLongAcquire(address);
  }

  @Override
  void setLong(long address, long value) {
    note("setLong", address);
    real.setLong(address, value);
  }

  @Override
  void setLongRelease(long address, long value) {
    note("setLongRelease", address);
    real.setLongRelease(address, value);
  }

  @Override
  boolean compareAndSetLong(long address, long expected, long value) {
    note("compareAndSetLong", address);
    return real.compareAndSetLong(address, expected, value);
  }

  @Override
  long getAndOrLongRelease(long address, long bits) {
    note("getAndOrLongRelease", address);
    return real.getAndOrLongRelease(address, bits);
  }

  @Override
  void read(long address, byte[] to, int offset, int length) {
    note("read", address);
    real.read(address, to, offset, length);
  }

  @Override
  void write(long address, byte[] from, int offset, int length) {
    note("write", address);
    real.write(address, from, offset, length);
  }
}
