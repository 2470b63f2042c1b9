package popfib;

/** What a table has for the addresses of one family: FIBs, and routes if they were kept. */
record Family(Fib fib, boolean isLongest, Fib longest, Routes routes) {
    /** Verifies the sections for keys of this width; next hops are at most {@code maxNextHop}. */
    static Family of(TableSections of, int width, int maxNextHop) throws InvalidImageException {
        Section[] values = of.three(width, Section.FIB);
        Section[] matches = of.three(width, Section.LONGEST);
        Section[] routes = of.three(width, Section.ADDRESSES);
        Fib longest = null;
        Fib fib = Fib.EMPTY;
        if (matches != null) {
            longest = FibCheck.verify(matches, width, (long) maxNextHop * (width + 1) + width, of.shared(matches[2]));
            fib = longest;
        }
        if (values != null) {
            fib = FibCheck.verify(values, width, maxNextHop, of.shared(values[2]));
            if (longest != null && fib.routes != longest.routes) {
                throw matches[0].broken(24, "it has another number of routes than the other FIB");
            }
        }
        if (routes != null && longest == null) {
            throw routes[0].broken(0, "there is no longest-match FIB");
        }
        // What lookups use is the FIB of next hops or, if there is none, that of longest matches.
        return new Family(fib, values == null && longest != null, longest,
                routes == null ? null : new Routes(routes, width, fib.routes, maxNextHop));
    }
}
