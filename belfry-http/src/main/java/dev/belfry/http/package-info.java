/**
 * The HTTP server code that the gateway and the admin surface share, and nothing else: observing
 * accepted connections, reading them, answering what the server rejects, limiting their number, and
 * parsing the target of a request. Access control and answers are left to the two.
 */
@NullMarked
package dev.belfry.http;

import org.jspecify.annotations.NullMarked;
