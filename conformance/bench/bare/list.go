package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"reflect"

	"github.com/labstack/echo/v4"
)

// list has the server answer what stands in a file, JSON: as it is, and encoded each time from Go values with encoding/json.
func list(e *echo.Echo, path string) {
	text, err := os.ReadFile(path)
	check(err)
	values, err := decoded(text)
	check(err)

	e.GET("/bytes", func(c echo.Context) error { return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, text) })
	e.GET("/values", func(c echo.Context) error { return c.JSON(http.StatusOK, values) })
}

// decoded gives JSON in Go values of structs and slices, as somebody would declare them: elements of a list are like its first.
func decoded(text []byte) (any, error) {
	t, err := typeOf(text)
	if err != nil {
		return nil, err
	}
	v := reflect.New(t)
	return v.Interface(), json.Unmarshal(text, v.Interface())
}

// typeOf gives the type of Go values that are encoded as the text is.
func typeOf(text []byte) (reflect.Type, error) {
	switch text = bytes.TrimSpace(text); text[0] {
	case '"':
		return reflect.TypeFor[string](), nil
	case 't', 'f':
		return reflect.TypeFor[bool](), nil
	case 'n':
		return reflect.TypeFor[*string](), nil
	case '[':
		var elements []json.RawMessage
		if err := json.Unmarshal(text, &elements); err != nil || len(elements) == 0 {
			return reflect.TypeFor[[]string](), err
		}
		t, err := typeOf(elements[0])
		if err != nil {
			return nil, err
		}
		return reflect.SliceOf(t), nil
	case '{':
		return structOf(text)
	}
	return reflect.TypeFor[float64](), nil
}

func structOf(text []byte) (reflect.Type, error) {
	var fields []reflect.StructField
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return nil, err
	}

	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		t, err := typeOf(value)
		if err != nil {
			return nil, err
		}
		tag := reflect.StructTag(fmt.Sprintf("json:%q", name))
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("F%d", len(fields)), Type: t, Tag: tag})
	}

	return reflect.StructOf(fields), nil
}
