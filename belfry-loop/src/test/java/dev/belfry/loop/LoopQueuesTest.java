package dev.belfry.loop;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The queue of the loop thread, and the one that other threads fill. */
final class LoopQueuesTest {
  /** A task with an identity and nothing else. */
  private static final class Numbered extends Task {
    private final int producer;
    private final int number;

    Numbered(int producer, int number) {
      this.producer = producer;
      this.number = number;
    }

    @Override
    public void run() {}

    @Override
    void abandoned() {}
  }

  @Test
  void aTaskQueueIsFirstInFirstOutWhateverItsSize() {
    var queue = new TaskQueue();
    var model = new ArrayDeque<Task>();
    var random = new Random(3);
    for (int i = 0; i < 200_000; i++) {
      // Grows to thousands and shrinks to nothing, over and over.
      boolean growing = i / 5_000 % 2 == 0;
      if (random.nextInt(10) < (growing ? 7 : 3)) {
        var task = new Numbered(0, i);
        queue.add(task);
        model.add(task);
      } else {
        assertThat(queue.poll()).isSameAs(model.poll());
      }
      if (queue.size() != model.size() || queue.isEmpty() != model.isEmpty()) {
        throw new AssertionError("size " + queue.size() + " instead of " + model.size());
      }
    }
  }

  @Test
  void anInboxGivesOldestFirstAndClosesForGood() {
    var inbox = new PostedTasks();
    assertThat(inbox.isEmpty()).isTrue();
    assertThat(inbox.takeAll()).isNull();
    var tasks = new ArrayList<Task>();
    for (int i = 0; i < 3; i++) {
      tasks.add(new Numbered(0, i));
      assertThat(inbox.offer(tasks.get(i))).isTrue();
    }
    assertThat(inbox.isEmpty()).isFalse();
    assertThat(listed(inbox.takeAll())).isEqualTo(tasks);
    assertThat(inbox.isEmpty()).isTrue();
    assertThat(inbox.offer(tasks.get(1))).isTrue();
    assertThat(listed(inbox.close())).containsExactly(tasks.get(1));
    assertThat(inbox.offer(tasks.get(2))).isFalse();
    assertThat(inbox.close()).isNull();
    assertThat(inbox.offer(tasks.get(2))).isFalse();
  }

  private static List<Task> listed(@Nullable Task first) {
    var list = new ArrayList<Task>();
    for (Task task = first; task != null; task = task.posted) {
      list.add(task);
    }
    return list;
  }

  // r[verify loop.mt.queue]
  @Test
  void manyProducersLoseDoubleAndReorderNothing() throws Exception {
    int producers = 4;
    int each = LoopSupport.rounds(100_000, 2_000_000);
    var inbox = new PostedTasks();
    var threads = new ArrayList<Thread>();
    var refused = new int[producers];
    for (int p = 0; p < producers; p++) {
      int producer = p;
      threads.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    for (int i = 0; i < each; i++) {
                      if (!inbox.offer(new Numbered(producer, i))) {
                        refused[producer]++;
                      }
                    }
                  }));
    }
    // Allowed: each producer's numbers, each once, in order. Half-way the queue is closed and
    // refuses everything, so the tasks taken are a prefix of each producer's numbers.
    var next = new int[producers];
    int taken = 0;
    while (taken < producers * each / 2) {
      taken += check(inbox.takeAll(), next);
      Thread.onSpinWait();
    }
    check(inbox.close(), next);
    for (Thread thread : threads) {
      LoopSupport.join(thread);
    }
    for (int p = 0; p < producers; p++) {
      assertThat(next[p] + refused[p]).isEqualTo(each);
    }
  }

  private static int check(@Nullable Task first, int[] next) {
    int count = 0;
    for (Task task = first; task != null; task = task.posted) {
      Numbered numbered = (Numbered) task;
      if (numbered.number != next[numbered.producer]++) {
        throw new AssertionError("producer " + numbered.producer + " at " + numbered.number);
      }
      count++;
    }
    return count;
  }
}
