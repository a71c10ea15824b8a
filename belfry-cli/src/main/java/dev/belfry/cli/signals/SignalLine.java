package dev.belfry.cli.signals;

import dev.belfry.linux.Signo;
import dev.belfry.loop.SignalInfo;
import dev.belfry.loop.SignalSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.json.JsonMapper;

/**
 * A line that {@code belfry signals watch} prints.
 *
 * @param text the line for people
 * @param fields the fields for programs, in order
 */
record SignalLine(String text, Map<String, Object> fields) {

  /** Returns the first line, which says that signals are now read. */
  static SignalLine ready(SignalSet watched) {
    long pid = ProcessHandle.current().pid();
    List<String> names = watched.toSigSet().signals().mapToObj(Signo::name).toList();
    var fields = new LinkedHashMap<String, Object>();
    fields.put("ready", true);
    fields.put("pid", pid);
    fields.put("signals", names);
    return new SignalLine("ready: process %d watches %s".formatted(pid, shortened(names)), fields);
  }

  /** Returns the line for a signal, with all that is known about it. */
  static SignalLine of(SignalInfo info) {
    var fields = new LinkedHashMap<String, Object>();
    fields.put("signum", info.signum());
    fields.put("name", info.name());
    fields.put("code", info.code());
    fields.put("pid", info.pid());
    fields.put("uid", info.uid());
    fields.put("value", value(info));
    fields.put("status", info.status());
    fields.put("errno", info.errno());
    String text =
        "%-11s signum %-2d  code %d (%s)  pid %d  uid %d  value %d  status %d  errno %d"
            .formatted(
                info.name(),
                info.signum(),
                info.code(),
                sender(info.code()),
                info.pid(),
                info.uid(),
                value(info),
                info.status(),
                info.errno());
    return new SignalLine(text, fields);
  }

  String json() {
    return JsonMapper.shared().writeValueAsString(fields);
  }

  /** Returns the int that was sent, or, if the value does not fit in one, the pointer. */
  private static long value(SignalInfo info) {
    return info.value() >>> Integer.SIZE == 0 ? info.intValue() : info.value();
  }

  /** Describes the codes that all signals share; the meaning of others depends on the signal. */
  private static String sender(int code) {
    return switch (code) {
      case 0 -> "kill";
      case -1 -> "sigqueue";
      case -2 -> "timer";
      case -3 -> "message queue";
      case -4 -> "asynchronous I/O";
      case -6 -> "tgkill";
      default -> code > 0 ? "kernel" : "other";
    };
  }

  /** Joins names, with the real-time signals as a range: they are all there, or few. */
  private static String shortened(List<String> names) {
    List<String> standard = names.stream().filter(name -> !name.startsWith("SIGRT")).toList();
    List<String> realtime = names.stream().filter(name -> name.startsWith("SIGRT")).toList();
    if (realtime.size() <= 3) {
      return String.join(" ", names);
    }
    return "%s %s..%s"
        .formatted(String.join(" ", standard), realtime.getFirst(), realtime.getLast())
        .strip();
  }
}
