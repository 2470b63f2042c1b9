package popfib

// A value in; the text that the command prints for it out.

import (
	"math"
	"strconv"
	"strings"
)

// A list's texts are separated by commas; those that they have themselves, and backslashes, follow one.
var escapes = strings.NewReplacer(`\`, `\\`, `,`, `\,`)

func textOf(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case int64:
		return strconv.FormatInt(value, 10)
	case uint64:
		return strconv.FormatUint(value, 10)
	case float64:
		return floatText(value)
	case bool:
		return strconv.FormatBool(value)
	case []string:
		return listText(value, escapes.Replace)
	case []int64:
		return elementsText(value)
	case []uint64:
		return elementsText(value)
	case []float64:
		return elementsText(value)
	case []bool:
		return elementsText(value)
	}
	return ""
}

func elementsText[T any](elements []T) string {
	return listText(elements, func(element T) string { return textOf(element) })
}

func listText[T any](elements []T, text func(T) string) string {
	texts := make([]string, len(elements))
	for n, element := range elements {
		texts[n] = text(element)
	}
	return strings.Join(texts, ",")
}

// floatText has the fewest digits that mean this number, and no exponent.
func floatText(value float64) string {
	if math.IsInf(value, 0) {
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(value, 'f', -1, 64)), "+")
	}
	return strconv.FormatFloat(value, 'f', -1, 64)
}
