package popfib.flink;

import java.io.IOException;
import java.nio.file.Path;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.functions.ScalarFunction;
import popfib.PopfibTable;
import popfib.Watcher;

/** The function of docs/flink.md. */
@SuppressWarnings("serial")
// guide: begin
public class PopfibLookup extends ScalarFunction {
    private final String path;
    private transient Watcher<PopfibTable> watcher;

    public PopfibLookup(String path) {
        this.path = path;
    }

    @Override
    public void open(FunctionContext context) throws IOException {
        watcher = PopfibTable.watch(Path.of(path)).start();
    }

    @Override
    public void close() {
        watcher.close();
    }

    public String eval(String address) {
        PopfibTable table = watcher.current();
        return address == null ? null : table.text(table.lookup(address));
    }
}
// guide: end
