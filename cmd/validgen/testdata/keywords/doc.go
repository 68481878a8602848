// Package keywords has the models and the validator of a document that uses every keyword which validgen knows, for its
// tests.
package keywords
