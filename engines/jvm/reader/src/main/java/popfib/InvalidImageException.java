package popfib;

import java.io.IOException;

/**
 * Bytes that are no image, or one that is cut off, damaged, malicious, of another version, or without
 * the table that was asked for. The message is one line: the file, the byte and the part of the image,
 * and what is wrong there.
 */
public final class InvalidImageException extends IOException {
    private static final long serialVersionUID = 1;

    InvalidImageException(String message) {
        super(message);
    }

    InvalidImageException(long at, String part, String reason) {
        super("byte " + at + " (" + part + "): " + reason);
    }
}
