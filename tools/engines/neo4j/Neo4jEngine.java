import java.nio.file.Path;
import java.util.Map;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.configuration.connectors.BoltConnector;
import org.neo4j.configuration.helpers.SocketAddress;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;
import org.neo4j.graphdb.GraphDatabaseService;
import org.neo4j.graphdb.Result;
import org.neo4j.io.ByteUnit;

/**
 * Runs Neo4j in a folder, speaking Bolt on a port of 127.0.0.1, until it is told to end. Prints "ready" when it is.
 *
 * <p>With the environment variable NEO4J_PASSWORD clients log in as neo4j with it; without it nobody logs in.
 */
public final class Neo4jEngine {
    public static void main(String[] arguments) throws Exception {
        var home = Path.of(arguments[0]);
        var address = new SocketAddress("127.0.0.1", Integer.parseInt(arguments[1]));
        var password = System.getenv("NEO4J_PASSWORD");
        var service = new DatabaseManagementServiceBuilder(home)
            .setConfig(BoltConnector.enabled, true)
            .setConfig(BoltConnector.listen_address, address)
            .setConfig(BoltConnector.advertised_address, address) // where neo4j:// URLs are routed to
            .setConfig(GraphDatabaseSettings.auth_enabled, password != null)
            .setConfig(GraphDatabaseSettings.pagecache_memory, ByteUnit.mebiBytes(256))
            .setConfig(GraphDatabaseSettings.preallocate_logical_logs, false) // otherwise 256 MiB for each database
            .setConfig(GraphDatabaseSettings.udc_enabled, false) // reports nothing to anyone
            .build();
        Runtime.getRuntime().addShutdownHook(new Thread(service::shutdown));
        try {
            if (password != null) {
                setFirstPassword(service.database("system"), password);
            }
        } catch (RuntimeException error) {
            error.printStackTrace();
            System.exit(1); // threads of the engine would keep the process alive
        }
        System.out.println("ready");
        Thread.currentThread().join();
    }

    /** Replaces the password of a new installation, which lets nobody do anything else. A later one stays. */
    private static void setFirstPassword(GraphDatabaseService system, String password) {
        boolean isNew = system.executeTransactionally(
            "SHOW USERS YIELD user, passwordChangeRequired WHERE user = 'neo4j' AND passwordChangeRequired RETURN user",
            Map.of(), Result::hasNext);
        if (isNew) {
            system.executeTransactionally(
                "ALTER USER neo4j SET PASSWORD $password CHANGE NOT REQUIRED", Map.of("password", password));
        }
    }
}
