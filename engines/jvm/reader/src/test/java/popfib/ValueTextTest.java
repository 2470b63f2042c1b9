package popfib;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.math.BigInteger;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Values as text; the expectations are what Rust prints. */
final class ValueTextTest {
    @Test
    void floats() {
        Object[][] cases = {
            {1.0, "1"}, {-0.0, "-0"}, {0.0, "0"}, {1.5, "1.5"}, {-0.25, "-0.25"}, {1e20, "100000000000000000000"}, {1e-7, "0.0000001"},
            {0.1, "0.1"}, {123456789.125, "123456789.125"}, {2e23, "2" + "0".repeat(23)}, {5e-324, "0." + "0".repeat(323) + "5"},
            {1.7976931348623157e308, "17976931348623157" + "0".repeat(292)}, {0x1p-44, "0.00000000000005684341886080802"},
            {Double.NaN, "NaN"}, {Double.POSITIVE_INFINITY, "inf"}, {Double.NEGATIVE_INFINITY, "-inf"},
        };
        for (Object[] one : cases) {
            assertEquals(one[1], ValueText.of(one[0]));
        }
    }

    @Test
    void others() {
        assertEquals("a", ValueText.of("a"));
        assertEquals("a\\b,c", ValueText.of("a\\b,c"));
        assertEquals("-7", ValueText.of(-7L));
        assertEquals("18446744073709551615", ValueText.of(new BigInteger("18446744073709551615")));
        assertEquals("true", ValueText.of(true));
        assertEquals("vpn,a\\,b,\\\\", ValueText.of(List.of("vpn", "a,b", "\\")));
        assertEquals("1,0.5", ValueText.of(List.of(1.0, 0.5)));
    }
}
