package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

const (
	base      = "https://orderflow.example/schemas/"
	maxLevels = 64
)

// Contract checks the rules of the envelope: JSON Schemas, and rules that not every validator of schemas can check
// (envelope-schema/fixtures/README.md).
type Contract struct {
	envelopes map[string]*jsonschema.Schema
	payloads  map[string]map[float64]*jsonschema.Schema
}

var eventFile = regexp.MustCompile(`^events/(\w+)\.(\d+)\.json$`)

// LoadContract reads the folder envelope-schema/schemas.
func LoadContract(folder string) (*Contract, error) {
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	var paths []string
	err := filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(file) != ".json" {
			return err
		}
		content, err := os.Open(file)
		if err != nil {
			return err
		}
		defer content.Close()
		document, err := jsonschema.UnmarshalJSON(content)
		if err != nil {
			return err
		}
		path, _ := filepath.Rel(folder, file)
		paths = append(paths, filepath.ToSlash(path))
		return compiler.AddResource(base+filepath.ToSlash(path), document)
	})
	if err != nil {
		return nil, err
	}
	contract := &Contract{map[string]*jsonschema.Schema{}, map[string]map[float64]*jsonschema.Schema{}}
	for _, variant := range []string{"full", "received"} {
		if contract.envelopes[variant], err = compiler.Compile(base + "envelope." + variant + ".json"); err != nil {
			return nil, err
		}
	}
	for _, path := range paths {
		event := eventFile.FindStringSubmatch(path)
		if event == nil {
			continue
		}
		version, _ := strconv.ParseFloat(event[2], 64)
		if contract.payloads[event[1]] == nil {
			contract.payloads[event[1]] = map[float64]*jsonschema.Schema{}
		}
		if contract.payloads[event[1]][version], err = compiler.Compile(base + path); err != nil {
			return nil, err
		}
	}
	return contract, nil
}

// Check returns the code of the first broken rule, or "ok", and the JSON pointers of all problems.
func (c *Contract) Check(value []byte, variant string) (string, []string) {
	if !utf8.Valid(value) {
		return "not-utf8", []string{""}
	}
	value = bytes.TrimPrefix(value, []byte("\ufeff"))
	if levels(value) > maxLevels {
		return "not-an-envelope", []string{""}
	}
	document, err := parse(value)
	if err != nil {
		return "not-json", []string{""}
	}
	wrong := map[string]bool{}
	beyondLimits(nil, document, wrong)
	document = withDoubles(document)
	object, isObject := document.(map[string]any)
	_, isCloudEvent := object["specversion"]
	_, hasPayload := object["Payload"]
	_, hasSchema := object["schema"]
	_, hasConnectPayload := object["payload"]
	if isCloudEvent && !hasPayload {
		wrong[""] = true // a CloudEvent around an envelope
	} else if hasSchema && hasConnectPayload && len(object) == 2 {
		wrong[""] = true // a record of Kafka Connect around an envelope
	} else {
		problems(c.envelopes[variant].Validate(document), "", wrong)
	}
	code := "ok"
	if len(wrong) > 0 {
		code = "not-an-envelope"
	}
	if isObject {
		if inPayload := c.checkPayload(object, wrong); code == "ok" {
			code = inPayload
		}
	}
	pointers := []string{}
	for pointer := range wrong {
		pointers = append(pointers, pointer)
	}
	slices.Sort(pointers)
	return code, pointers
}

func (c *Contract) checkPayload(object map[string]any, wrong map[string]bool) string {
	name, isText := object["Name"].(string)
	if !isText {
		return "ok"
	}
	versions, isKnown := c.payloads[name]
	if !isKnown {
		wrong["/Name"] = true
		return "unknown-event"
	}
	version, _ := object["Version"].(float64)
	schema, isKnown := versions[version]
	if !isKnown {
		wrong["/Version"] = true
		return "unknown-version"
	}
	if err := schema.Validate(object["Payload"]); err != nil {
		problems(err, "/Payload", wrong)
		return "invalid-payload"
	}
	return "ok"
}

// problems collects the pointers of values that break a schema.
func problems(err error, at string, wrong map[string]bool) {
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return
	}
	pointer := at
	for _, key := range invalid.InstanceLocation {
		pointer += "/" + key
	}
	if required, ok := invalid.ErrorKind.(*kind.Required); ok {
		for _, field := range required.Missing {
			wrong[pointer+"/"+field] = true
		}
	} else if len(invalid.Causes) == 0 {
		wrong[pointer] = true
	}
	for _, cause := range invalid.Causes {
		problems(cause, at, wrong)
	}
}

var escape = regexp.MustCompile(`\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)`)

// parse keeps the text of numbers. It replaces lone surrogates, which encoding/json would hide, by U+0000.
// beyondLimits refuses U+0000.
func parse(value []byte) (any, error) {
	value = escape.ReplaceAllFunc(value, func(found []byte) []byte {
		if len(found) == 6 {
			return []byte(`\u0000`)
		}
		return found
	})
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	var document any
	if err := decoder.Decode(&document); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, fmt.Errorf("there is more than one document")
	}
	return document, nil
}

// withDoubles reads numbers as every receiver does: as 64-bit doubles.
func withDoubles(value any) any {
	switch value := value.(type) {
	case json.Number:
		double, _ := strconv.ParseFloat(value.String(), 64)
		return max(-math.MaxFloat64, min(double, math.MaxFloat64)) // the schema library does not accept infinity
	case []any:
		for index, item := range value {
			value[index] = withDoubles(item)
		}
	case map[string]any:
		for key, field := range value {
			value[key] = withDoubles(field)
		}
	}
	return value
}

// levels returns the depth of nested objects and lists. It uses no parser, because parsers have other limits for the depth.
func levels(value []byte) int {
	deepest, level, inText := 0, 0, false
	for at := 0; at < len(value); at++ {
		switch character := value[at]; {
		case inText && character == '\\':
			at++
		case character == '"':
			inText = !inText
		case inText:
		case character == '[' || character == '{':
			level++
			deepest = max(deepest, level)
		case character == ']' || character == '}':
			level--
		}
	}
	return deepest
}

// beyondLimits adds the pointers of numbers too large for a double, and of texts and keys with U+0000.
func beyondLimits(path []string, value any, wrong map[string]bool) {
	switch value := value.(type) {
	case string:
		if strings.ContainsRune(value, 0) {
			wrong[pointerOf(path)] = true
		}
	case json.Number:
		if _, err := strconv.ParseFloat(value.String(), 64); err != nil {
			wrong[pointerOf(path)] = true
		}
	case []any:
		for index, item := range value {
			beyondLimits(append(slices.Clone(path), strconv.Itoa(index)), item, wrong)
		}
	case map[string]any:
		for key, field := range value {
			if strings.ContainsRune(key, 0) {
				wrong[pointerOf(path)] = true
			}
			beyondLimits(append(slices.Clone(path), key), field, wrong)
		}
	}
}

var plainKey = regexp.MustCompile(`^[A-Za-z0-9_]{1,64}$`)

// pointerOf returns a pointer with at most two parts. The pointer ends before a key that cannot be a field name.
func pointerOf(path []string) string {
	pointer := ""
	for index, key := range path {
		if index == 2 || !plainKey.MatchString(key) {
			break
		}
		pointer += "/" + key
	}
	return pointer
}
