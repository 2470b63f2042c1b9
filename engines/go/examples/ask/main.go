// Addresses in, a line each; the answers of a running popfibd out, a line of JSON each. It has no table of its own: one daemon
// answers for all programs, and reads a file again when another takes its place.
//
//	popfibd --table geo=City.mmdb --http 127.0.0.1:8053
//	ask -url http://127.0.0.1:8053 -table geo -columns country.iso_code,city.names.en <addresses.txt
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
)

// batch is how many addresses a request has: one request for each would take as long on its way as thousands in one.
const batch = 10_000

// client asks one table of one daemon.
type client struct {
	url   string
	token string
}

// lookup returns an answer for each address, in their order: the members address, prefix and one for each column, or error.
func (c client) lookup(addresses []string) ([]json.RawMessage, error) {
	body, err := json.Marshal(addresses)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest(http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", response.Status, bytes.TrimSpace(answer))
	}
	var answers []json.RawMessage
	if err := json.Unmarshal(answer, &answers); err != nil {
		return nil, err
	}
	if len(answers) != len(addresses) {
		return nil, fmt.Errorf("%d answers for %d addresses", len(answers), len(addresses))
	}
	return answers, nil
}

// ask looks all lines up.
func ask(c client, from io.Reader, to io.Writer) error {
	out := bufio.NewWriter(to)
	lines := bufio.NewScanner(from)
	for more := true; more; {
		var addresses []string
		for more = lines.Scan(); more; more = lines.Scan() {
			addresses = append(addresses, lines.Text())
			if len(addresses) == batch {
				break
			}
		}
		if len(addresses) == 0 {
			break
		}
		answers, err := c.lookup(addresses)
		if err != nil {
			return err
		}
		for _, answer := range answers {
			fmt.Fprintf(out, "%s\n", answer)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return out.Flush()
}

func main() {
	daemon := flag.String("url", "http://127.0.0.1:8053", "where popfibd listens (--http)")
	table := flag.String("table", "", "name of the table, if it has several")
	columns := flag.String("columns", "", "columns of the answers, with commas; all without")
	flag.Parse()
	query := url.Values{}
	for name, value := range map[string]string{"table": *table, "columns": *columns} {
		if value != "" {
			query.Set(name, value)
		}
	}
	c := client{*daemon + "/v1/lookup?" + query.Encode(), os.Getenv("POPFIB_TOKEN")}
	if err := ask(c, os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}
