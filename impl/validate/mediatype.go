package validate

import (
	"fmt"
	"mime"
	"strings"
)

const jsonType = "application/json"

// ContentType reports what is wrong with the content type of a body: it must be JSON in UTF-8, with whatever other parameters
// (rules errors.media-type and errors.media-type.charset). It is empty where nothing is.
func ContentType(header string) (fault string) {
	if header == jsonType {
		return ""
	}
	kind, parameters, err := mime.ParseMediaType(header)
	if err != nil || kind != jsonType {
		return "the content type must be " + jsonType
	}
	return otherCharset(parameters)
}

// Charset reports what is wrong with the charset of a body by its content type, whatever that is else. It is empty where nothing is.
func Charset(header string) (fault string) {
	_, parameters, err := mime.ParseMediaType(header)
	if err != nil && strings.Contains(strings.ToLower(header), charset) {
		return "the content type cannot be read"
	}
	return otherCharset(parameters)
}

const charset = "charset"

func otherCharset(parameters map[string]string) (fault string) {
	name, given := parameters[charset]
	if !given || strings.EqualFold(name, "utf-8") || strings.EqualFold(name, "utf8") {
		return ""
	}
	return fmt.Sprintf("the body must be UTF-8, and its content type says charset %.100q", name)
}

// ContentEncoding reports what is wrong with the content encoding of a body, which may be given more than once: none is undone (rule
// errors.media-type.encoding). It is empty where nothing is.
func ContentEncoding(headers []string) (fault string) {
	for _, header := range headers {
		for coding := range strings.SplitSeq(header, ",") {
			if coding = strings.TrimSpace(coding); coding != "" && !strings.EqualFold(coding, "identity") {
				return fmt.Sprintf("the body must be sent as it is, and its content encoding is %.100q", coding)
			}
		}
	}
	return ""
}
