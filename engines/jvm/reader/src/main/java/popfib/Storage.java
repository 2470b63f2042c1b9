package popfib;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Arrays;

/** Where the bytes of an image come from: an array, a file that is read, or one that is mapped. */
interface Storage {
    long size();

    /** So many bytes from here on, which the size has. */
    Bytes bytes(long start, long length) throws IOException;

    /** The most bytes of a section, which is one array. */
    int MAX_LENGTH = Integer.MAX_VALUE - 8;

    static Storage of(byte[] image) {
        return new Storage() {
            @Override
            public long size() {
                return image.length;
            }

            @Override
            public Bytes bytes(long start, long length) {
                return new Bytes.Copied(Arrays.copyOfRange(image, (int) start, (int) (start + length)));
            }
        };
    }

    static Storage read(FileChannel file, long size) {
        return new Storage() {
            @Override
            public long size() {
                return size;
            }

            @Override
            public Bytes bytes(long start, long length) throws IOException {
                byte[] bytes = new byte[(int) length];
                ByteBuffer into = ByteBuffer.wrap(bytes);
                while (into.hasRemaining()) {
                    // The JDK keeps a buffer outside of the heap as large as what is read at once.
                    into.limit(Math.min(bytes.length, into.position() + (1 << 20)));
                    if (file.read(into, start + into.position()) < 0) {
                        throw ImageFile.cutOff(start + into.position(), size);
                    }
                    into.limit(bytes.length);
                }
                return new Bytes.Copied(bytes);
            }
        };
    }

    static Storage map(FileChannel file, long size) throws IOException {
        if (size > Integer.MAX_VALUE) {
            throw new InvalidImageException("more than 2 GiB cannot be mapped; open reads it");
        }
        ByteBuffer mapped = file.map(FileChannel.MapMode.READ_ONLY, 0, size);
        return new Storage() {
            @Override
            public long size() {
                return size;
            }

            @Override
            public Bytes bytes(long start, long length) {
                return new Bytes.Mapped(mapped.slice((int) start, (int) length));
            }
        };
    }
}
