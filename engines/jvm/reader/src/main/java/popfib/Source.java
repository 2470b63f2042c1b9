package popfib;

/**
 * Where routes or records of a table come from. What is unknown is empty.
 *
 * @param name usually the name of a file
 * @param description what the data is
 * @param licence the terms that it is under
 * @param date the time of the data, as RFC 3339 has it: {@code 2026-06-17} or
 *     {@code 2026-06-17T19:00:00Z}
 */
public record Source(String name, String description, String licence, String date) {}
