/**
 * Looks up IP addresses in images: files of compiled routing tables, databases of countries or networks,
 * and lists, which the command {@code popfib compile} writes. {@link popfib.PopfibTable} is where to begin.
 *
 * <p>Opening validates every byte of an image, so a file that is damaged or made to do harm is an
 * exception of one line, and never a hang, a wrong answer or more memory than a few times its size.
 *
 * <p>The package is Java without dependencies, native code or {@code Unsafe}. It was written from the
 * specification of the format, docs/image-format.md.
 */
package popfib;
