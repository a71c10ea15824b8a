/**
 * What the gateway and the admin surface both need of their HTTP server, and nothing else: to be
 * told of each connection, to read it themselves, to answer what the server refuses, to limit how
 * many there are, and to see what a request is for. Who may do what, and what is answered, they
 * decide themselves.
 */
@NullMarked
package dev.belfry.http;

import org.jspecify.annotations.NullMarked;
