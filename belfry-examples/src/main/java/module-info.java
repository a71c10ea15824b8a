/** Small programs that the documentation shows. */
module dev.belfry.examples {
  requires static org.jspecify;
  requires dev.belfry.loop;
}
