package popfib;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/** Texts of images. */
final class Utf8 {
    private Utf8() {}

    /** In little memory, however long the bytes are. */
    static boolean isValid(ByteBuffer bytes) {
        CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPORT);
        CharBuffer out = CharBuffer.allocate(4096);
        while (true) {
            CoderResult result = decoder.decode(bytes, out.clear(), true);
            if (!result.isOverflow()) {
                return result.isUnderflow();
            }
        }
    }

    /** The text of these bytes, which are valid. */
    static String text(Bytes bytes, int from, int to) {
        byte[] copy = new byte[to - from];
        bytes.buffer().position(from).get(copy);
        return new String(copy, StandardCharsets.UTF_8);
    }
}
