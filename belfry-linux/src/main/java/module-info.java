/** The system calls of Linux, as plain Java. */
module dev.belfry.linux {
  requires static transitive org.jspecify;

  exports dev.belfry.linux;
}
